# Shows the comments of reckoner.h, which are those of plain C, to Doxygen.
1s|.*|/** @file reckoner.h|
2,$s|^\( *\)/\* |\1/** |
2,$s|\([;,] *\)/\* |\1/**< |
