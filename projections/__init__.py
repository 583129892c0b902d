"""Pure folds from events to read models, and the workers that run them."""
