"""The ops as torch operators: with gradients, for torch.compile and for export. One file per op."""
