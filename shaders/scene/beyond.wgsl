// Coordinates of vertices that have no place on the lattice. Those on it are below 2^24 on either
// side.

// Past the limit, on the side of the sign.
const BEYOND: i32 = 0x1000000;
// NaN, or of a position that is not finite.
const NOT_A_NUMBER: i32 = 0x2000000;
