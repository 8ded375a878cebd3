"""Programs that propose best mechanisms, one a module, named by their unknowns and their loss.

==============================================================  ====================  ===================  ===================
loss                                                            diagonal: M unknowns  channel: M x M       profile: n + 1
==============================================================  ====================  ===================  ===================
ratio: differential privacy, approximate                        diagonal_ratio        channel_ratio        profile_ratio
lift: maximal information                                       never decides alone   channel_lift         profile_mass
mass: maximal leakage                                           diagonal_mass         channel_mass         profile_mass
information: mutual, Sibson                                     diagonal_information  channel_information  profile_information
moment: Renyi differential privacy                              closed form, Class I  channel_moment       profile_moment
==============================================================  ====================  ===================  ===================

The *diagonal* decides the rest for Hamming distortion where all letters are neighbors. The whole *channel* is for any graph of
neighbors and any distances. A *profile* has one probability for each number of records changed, which is enough for databases
under the uniform prior (``profiles``). For ratio and mass, ``known_prior`` has the closed forms of one prior and of intervals,
and ``many_letters`` the diagonals of few vertices over up to a million letters.
Differential privacy on a graph goes by the channel's columns, ``column_ratio``, many vertices with cycles by
``column_interior``. Under constraints (``restrictions``) some numbers a letter are enough where bounds of the columns say all,
``diagonal_constrained`` with ``transport``; else it takes the channel: ``channel_constrained``, in exact arithmetic, where
programs are linear, and ``channel_convex`` for information and Renyi divergences.

Every program returns a ``Proposal`` (``proposals``) and has a lower bound beside it, a function of dual variables that holds
whatever they are: solvers propose, and :func:`paper_repro.tradeoff.certified` judges. Four modules are what programs are made
of: ``linear`` (HiGHS and the optimal basis), ``exact`` (the same in fractions, from that basis), ``information_dual`` (an
interior-point method for information of any order) and ``games`` (the members of a source set that stand out, as values of
matrix games).
"""
