# Shows the comments of the C headers, which are those of plain C, to Doxygen.
1s|.*|/** @file|
2,$s|^\( *\)/\* |\1/** |
2,$s|\([;,] *\)/\* |\1/**< |
# The address of a variable is no HTML entity.
2,$s|&\([a-z]*\);|\&amp;\1;|g
