"""What a design of attention layers needs to answer Min-IP, and what would be enough.

formats     number formats, with exact rounding
softmax     dense softmax: the temperature, and what rounding does to it
costs       state and operations per token, of a kernel head and of dense attention
allocation  heads, features and precisions under budgets: an integer programme
advice      the lines of a plan: each with its verdict, theorem and certificate
"""
