// The inputs of the predicates, in lattice units.

struct Triangle {
    a: vec3<i32>,
    b: vec3<i32>,
    c: vec3<i32>,
}

// The closed cube of half edge `half` around `center`, in lattice units.
struct Cube {
    center: vec3<i32>,
    half: i32,
}
