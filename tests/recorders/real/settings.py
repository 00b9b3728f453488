"""What all recordings have in common."""

import random

import numpy
import torch


def seed(number):
    random.seed(number)
    numpy.random.seed(number)
    torch.manual_seed(number)
    torch.set_num_threads(1)
