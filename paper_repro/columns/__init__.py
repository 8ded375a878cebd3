"""A column of one's own: what is known becomes a source set, values are released, and frequencies estimated from them.

What is drawn is an exact channel of integers (:mod:`paper_repro.columns.sampler`), whose privacy is a matter of rationals; it is
kept as a document that anyone can verify from the integers alone (:mod:`paper_repro.columns.documents`).
"""
