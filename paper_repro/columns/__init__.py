"""A column of one's own: what is known becomes a source set, values are released, and frequencies estimated from them."""
