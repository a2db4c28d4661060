// Bounds of the distance from a lattice point to a triangle, and to triangles in a box, in f32 and
// in lattice units.
//
// To a triangle: a point q of it is found, close to the nearest one. For any q, with v = p - q, all
// points t of the triangle satisfy |p - t| >= (p - t) . v / |v|, which is least at a corner. So the
// least of the three products and |v| bound the distance, whatever rounding did to the choice of q.
//
// The error: let u = 2^-23, which bounds the rounding of a basic operation, and R be the largest
// 1-norm of p minus a corner. Differences from p are exact: they are integers up to 2^24. Edges are
// at most 2R long. A point on an edge is wrong by less than 12uR, in any order of the operations; a
// point from barycentric weights by less than 45uR, of which 12uR is that the weights may sum to
// 1 + 6u. The length and the quotient add less than 14uR. 64uR = 2^-17 R exceeds both sums.
//
// A compiler may evaluate v twice: fused where it is multiplied, and not where its length is taken.
// From the same weights each is within 6uR of the same point, which is within 12uR of the triangle:
// edges are exact, products of them are at most 2R long, and sums R. So |v| differs by less than
// 12uR, and a quotient, at most |v| + 18uR for |v| above 64uR, by less than
// 12 (64 + 12 + 18) / 64 uR < 18uR: with the 14uR above less than 64uR.
//
// To a box: differences are exact, and squares, sum and root have a relative error below 2^-20.
//
// #import exact/shapes

struct Bounds {
    least: f32,
    most: f32,
}

// The point on an edge that is nearest to p, from p; `start` and `end` are p minus its corners.
fn from_edge(start: vec3<f32>, end: vec3<f32>) -> vec3<f32> {
    let edge = start - end;
    // An edge of length 0 has dot(start, edge) = 0; others are at least 1 long.
    let along = clamp(dot(start, edge) / max(dot(edge, edge), 1.0), 0.0, 1.0);
    return start - along * edge;
}

fn shorter(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    return select(b, a, dot(a, a) < dot(b, b));
}

fn norm_1(v: vec3<f32>) -> f32 {
    return dot(abs(v), vec3<f32>(1.0));
}

fn distance_bounds(p: vec3<i32>, triangle: Triangle) -> Bounds {
    let a = vec3<f32>(p - triangle.a);
    let b = vec3<f32>(p - triangle.b);
    let c = vec3<f32>(p - triangle.c);
    var v = shorter(shorter(from_edge(a, b), from_edge(b, c)), from_edge(c, a));
    // Barycentric weights of the foot of the perpendicular. They are below 2^103.
    let normal = cross(a - b, b - c);
    let weights = vec3<f32>(
        dot(cross(b, c), normal),
        dot(cross(c, a), normal),
        dot(cross(a, b), normal),
    );
    let sum = weights.x + weights.y + weights.z;
    if all(weights >= vec3<f32>(0.0)) && (sum > 0.0) {
        let share = min(weights / sum, vec3<f32>(1.0));
        v = shorter(v, a - share.y * (a - b) + share.z * (c - a));
    }
    let error = 0x1p-17f * max(max(norm_1(a), norm_1(b)), norm_1(c));
    let length = sqrt(dot(v, v));
    let least = min(min(dot(v, a), dot(v, b)), dot(v, c)) / max(max(length, error), 0x1p-20f);
    // Shorter than the error, `v` may have no direction.
    return Bounds(select(0.0, least - error, length > error), length + error);
}

// From the nearest point of the box to the farthest.
fn box_bounds(p: vec3<i32>, lo: vec3<i32>, hi: vec3<i32>) -> Bounds {
    let from_lo = vec3<f32>(p - lo);
    let to_hi = vec3<f32>(hi - p);
    let near = max(max(-from_lo, -to_hi), vec3<f32>(0.0));
    let far = max(from_lo, to_hi);
    return Bounds(sqrt(dot(near, near)) * (1.0 - 0x1p-19f), sqrt(dot(far, far)) * (1.0 + 0x1p-19f));
}
