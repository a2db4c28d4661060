// Rays against the active voxels of a .nvdb, by NanoVDB's hierarchical DDA.
//
// K. Museth, "Hierarchical Digital Differential Analyzer for Efficient Ray-Marching in OpenVDB"
// (SIGGRAPH Talks, 2014). Usage: nanovdb GRID RAYS HITS THREADS RUNS
#include "rays.h"

#include <nanovdb/NanoVDB.h>
#include <nanovdb/util/HDDA.h>
#include <nanovdb/util/IO.h>
#include <nanovdb/util/Ray.h>

using FloatRay = nanovdb::Ray<float>;
using Grid = nanovdb::NanoGrid<float>;

// Voxels beyond a node's side at which the next node is looked up: above the rounding of a float there.
constexpr float AHEAD = 1e-3f;

struct Tracer {
    const Grid& grid;
    nanovdb::DefaultReadAccessor<float> nodes;

    explicit Tracer(const Grid& grid) : grid(grid), nodes(grid.getAccessor()) {}

    Hit operator()(const Ray& ray)
    {
        const auto &o = ray.origin, &d = ray.direction;
        nanovdb::Vec3f direction(d[0], d[1], d[2]);
        FloatRay path(nanovdb::Vec3f(o[0], o[1], o[2]), direction.normalize());
        if (!path.clip(grid.tree().root().bbox())) return NONE;
        nanovdb::Coord at = nanovdb::RoundDown<nanovdb::Coord>(path.start());
        nanovdb::HDDA<FloatRay, nanovdb::Coord> walk(path, nodes.getDim(at, path));
        while (true) {
            if (walk.dim() == 1) at = walk.voxel();
            if (nodes.isActive(at)) return {{at[0], at[1], at[2]}};
            if (!walk.step()) return NONE;
            at = walk.voxel();
            if (walk.dim() > 1) at = nanovdb::RoundDown<nanovdb::Coord>(path(walk.time() + AHEAD));
            walk.update(path, nodes.getDim(at, path));
        }
    }
};

int main(int, char** argv)
{
    nanovdb::GridHandle<> handle;
    const double load_ms = milliseconds([&] { handle = nanovdb::io::readGrid(argv[1]); });
    const Grid* grid = handle.grid<float>();
    if (!grid) throw std::runtime_error("not a grid of floats");
    measure(argv, handle.size(), load_ms, [&] { return Tracer(*grid); });
}
