// NanoVDB's own headers on what is written here, and the other way round. Called in a folder:
//
//     nvdb check N    reads 0.nvdb to N-1.nvdb, each beside its voxels as .npy; prints a line each
//     nvdb pbrt N     does what pbrt-v4 does with 0.nvdb to N-1.nvdb, each beside its voxels as .npy and
//                     its place as .txt; prints a line each
//     nvdb far        reads far.nvdb beside the list of its voxels, and prints a line
//     nvdb colors     reads the colours of grid.nvdb beside the list of them, and prints a line
//     nvdb attribute NAME TYPE  reads the grid NAME of grid.nvdb beside the list NAME.txt of its bits,
//                     and prints a line
//     nvdb writecolors writes files whose colours are their places'
//     nvdb distances NAME  reads the level set NAME.nvdb beside its distances as NAME.raw and what else is
//                     known of it as NAME.txt, and prints a line
//     nvdb write      writes files to be read, and what voxels they hold

#define NANOVDB_USE_ZIP
#define NANOVDB_USE_BLOSC

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <nanovdb/util/GridBuilder.h>
#include <nanovdb/util/GridChecksum.h>
#include <nanovdb/util/GridStats.h>
#include <nanovdb/util/GridValidator.h>
#include <nanovdb/util/IO.h>
#include <nanovdb/util/Primitives.h>
#include <nanovdb/util/SampleFromVoxels.h>

using nanovdb::Coord;
using nanovdb::Vec3d;

// Of a bool array in C order.
struct Voxels {
    int dims[3];
    std::vector<char> file;
    size_t begin;

    explicit Voxels(const std::string& name) {
        std::ifstream in(name, std::ios::binary);
        file.assign(std::istreambuf_iterator<char>(in), {});
        uint16_t header;
        memcpy(&header, &file[8], 2);
        begin = 10 + header;
        const char* shape = strstr(&file[10], "'shape': (");
        sscanf(shape, "'shape': (%d, %d, %d", &dims[0], &dims[1], &dims[2]);
    }

    // Nothing outside.
    bool at(int x, int y, int z) const {
        if (x < 0 || y < 0 || z < 0 || x >= dims[0] || y >= dims[1] || z >= dims[2]) return false;
        return file[begin + (size_t(x) * dims[1] + y) * dims[2] + z];
    }
};

// How many voxels differ, in value or in being active; 3 voxels around the grid too.
static size_t differences(const nanovdb::FloatGrid& grid, const Voxels& voxels) {
    auto accessor = grid.getAccessor();
    size_t count = 0;
    for (int x = -3; x < voxels.dims[0] + 3; ++x)
        for (int y = -3; y < voxels.dims[1] + 3; ++y)
            for (int z = -3; z < voxels.dims[2] + 3; ++z) {
                Coord ijk(x, y, z);
                bool expected = voxels.at(x, y, z);
                count += accessor.isActive(ijk) != expected;
                count += accessor.getValue(ijk) != (expected ? 1.0f : 0.0f);
            }
    return count;
}

// Bytes of the grid that the library's own statistics would change, but for flags and world box.
static size_t changedByStatistics(nanovdb::GridHandle<>& handle) {
    const char* data = reinterpret_cast<const char*>(handle.data());
    std::vector<char> before(data, data + handle.size());
    nanovdb::gridStats(*handle.grid<float>(), nanovdb::StatsMode::MinMax);
    size_t count = 0;
    for (size_t i = 0; i < before.size(); ++i) {
        bool isExempt = (i >= 20 && i < 24) || (i >= 560 && i < 608);
        count += !isExempt && before[i] != data[i];
    }
    return count;
}

static void check(int n) {
    std::string name = std::to_string(n);
    auto handle = nanovdb::io::readGrid(name + ".nvdb", std::string("density"));
    auto* grid = handle.grid<float>();
    if (!grid) {
        printf("no grid of floats\n");
        return;
    }
    auto meta = nanovdb::io::readGridMetaData(name + ".nvdb").at(0);
    bool isValid = nanovdb::isValid(*grid, true, true) && grid->isFogVolume() && grid->isBreadthFirst();
    size_t differ = differences(*grid, Voxels(name + ".npy"));
    const auto& blind = grid->blindMetaData(0);
    bool hasMean = grid->isEmpty() || (grid->tree().root().average() == 1 && grid->tree().root().stdDeviation() == 0);
    Vec3d a = grid->indexToWorld(Vec3d(-0.5, -0.5, -0.5)), b = grid->indexToWorld(Vec3d(1.5, 0.5, -0.5));
    auto box = grid->worldBBox();
    auto& tree = grid->tree();
    printf("%d %zu %d %d ", isValid, differ, hasMean, blind.mDataType == nanovdb::GridType::Unknown);
    printf("%lu %lu ", (unsigned long)grid->activeVoxelCount(), (unsigned long)meta.voxelCount);
    printf("%u %u %u ", tree.nodeCount(0), tree.activeTileCount(1), tree.activeTileCount(2));
    printf("%.*s ", int(blind.mElementCount), blind.getBlindData<char>());
    size_t changed = changedByStatistics(handle);
    printf("%zu %.17g %.17g %.17g %.17g %.17g %.17g", changed, a[0], a[1], a[2], b[0], b[1], b[2]);
    if (!grid->isEmpty())
        for (int i = 0; i < 2; ++i)
            for (int axis = 0; axis < 3; ++axis) printf(" %.17g", box[i][axis]);
    printf("\n");
}

// As pbrt-v4 looks up densities: by a place in the world, smoothed between the centres of voxels.
static float densityAt(const nanovdb::FloatGrid& grid, const Vec3d& place) {
    using Sampler = nanovdb::SampleFromVoxels<nanovdb::FloatGrid::TreeType, 1, false>;
    auto index = grid.worldToIndexF(nanovdb::Vec3<float>(place[0], place[1], place[2]));
    return Sampler(grid.tree())(index);
}

// Voxels, and 1 around the grid, in whose centre pbrt-v4 does not find their density.
static size_t otherDensities(const nanovdb::FloatGrid& grid, const Voxels& voxels, Vec3d origin, double size) {
    size_t count = 0;
    for (int x = -1; x <= voxels.dims[0]; ++x)
        for (int y = -1; y <= voxels.dims[1]; ++y)
            for (int z = -1; z <= voxels.dims[2]; ++z) {
                Vec3d center = origin + Vec3d(x + 0.5, y + 0.5, z + 0.5) * size;
                count += std::abs(densityAt(grid, center) - float(voxels.at(x, y, z))) > 1e-3f;
            }
    return count;
}

// The most that pbrt-v4 expects of the density in a part of the bounds, a 64th along each axis.
static float majorant(const nanovdb::FloatGrid& grid, const nanovdb::BBox<Vec3d>& bounds, const Coord& part) {
    auto box = grid.indexBBox();
    int low[3], high[3];
    for (int axis = 0; axis < 3; ++axis) {
        auto at = [&](int i) { return bounds.min()[axis] + bounds.dim()[axis] * i / 64; };
        Vec3d first = bounds.min(), last = bounds.min();
        first[axis] = at(part[axis]), last[axis] = at(part[axis] + 1);
        low[axis] = std::max(int(grid.worldToIndexF(first)[axis] - 1), box.min()[axis]);
        high[axis] = std::min(int(grid.worldToIndexF(last)[axis] + 1), box.max()[axis]);
    }
    float most = 0;
    for (int x = low[0]; x <= high[0]; ++x)
        for (int y = low[1]; y <= high[1]; ++y)
            for (int z = low[2]; z <= high[2]; ++z)
                most = std::max(most, grid.getAccessor().getValue({x, y, z}));
    return most;
}

// Places in the bounds at which the density is more than pbrt-v4 expects, of 3000.
static size_t aboveMajorant(const nanovdb::FloatGrid& grid) {
    auto bounds = grid.worldBBox();
    unsigned state = 1;
    size_t count = 0;
    for (int i = 0; i < 3000; ++i) {
        Vec3d place;
        Coord part;
        for (int axis = 0; axis < 3; ++axis) {
            double along = double((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24);
            part[axis] = int(along * 64);
            place[axis] = bounds.min()[axis] + bounds.dim()[axis] * along;
        }
        count += densityAt(grid, place) > majorant(grid, bounds, part) + 1e-5f;
    }
    return count;
}

static void pbrt(int n) {
    std::string name = std::to_string(n), file = name + ".nvdb";
    // Its own reader is of version 32.3, which knows no other magic number.
    std::ifstream in(file, std::ios::binary);
    char magic[8];
    uint32_t version = 0;
    in.read(magic, 8).read(reinterpret_cast<char*>(&version), 4);
    bool isOfItsVersion = !memcmp(magic, "NanoVDB0", 8) && version >> 21 == 32 && (version >> 10 & 1023) == 3;
    auto handle = nanovdb::io::readGrid(file, std::string("density"));
    auto* head = handle.gridMetaData();
    bool isDensity = head && (head->isFogVolume() || head->isUnknown()) && handle.grid<float>();
    // Else it would glow.
    bool isCold = !nanovdb::io::readGrid(file, std::string("temperature"));
    printf("%d %d %d", isOfItsVersion, isDensity, isCold);
    Vec3d origin;
    double size;
    std::ifstream(name + ".txt") >> origin[0] >> origin[1] >> origin[2] >> size;
    auto* grid = handle.grid<float>();
    printf(" %zu", otherDensities(*grid, Voxels(name + ".npy"), origin, size));
    if (!grid->isEmpty()) printf(" %zu", aboveMajorant(*grid));
    printf("\n");
}

static void far() {
    auto handle = nanovdb::io::readGrid("far.nvdb", std::string("density"));
    auto* grid = handle.grid<float>();
    bool isValid = nanovdb::isValid(*grid, true, true), areActive = true;
    auto accessor = grid->getAccessor();
    std::ifstream voxels("far.txt");
    size_t count = 0;
    for (int x, y, z; voxels >> x >> y >> z; ++count) {
        Coord ijk(x, y, z);
        areActive = areActive && accessor.isActive(ijk) && accessor.getValue(ijk) == 1;
    }
    areActive = areActive && count == grid->activeVoxelCount();
    printf("%d %d %zu %zu\n", isValid, areActive, count, changedByStatistics(handle));
}

static void colors() {
    auto metas = nanovdb::io::readGridMetaData("grid.nvdb");
    auto density = nanovdb::io::readGrid("grid.nvdb", std::string("density"));
    auto handle = nanovdb::io::readGrid("grid.nvdb", std::string("Cd"));
    auto* grid = handle.grid<nanovdb::Vec3f>();
    bool isValid = grid && nanovdb::isValid(*grid, true, true) && grid->isUnknown();
    auto accessor = grid->getAccessor();
    std::ifstream lines("grid.txt");
    size_t count = 0, differ = 0;
    for (double n[10]; lines >> n[0]; ++count) {
        for (int i = 1; i < 10; ++i) lines >> n[i];
        Coord ijk(n[0], n[1], n[2]);
        auto value = accessor.getValue(ijk);
        bool isSame = accessor.isActive(ijk);
        for (int i = 0; i < 3; ++i) isSame = isSame && value[i] == float(n[7 + i]);
        differ += !isSame;
    }
    bool liesThere = grid->worldBBox() == density.grid<float>()->worldBBox();
    printf("%zu %s %s %d %d %zu %zu %zu %d\n", metas.size(), metas[0].gridName.c_str(),
        metas[1].gridName.c_str(), isValid, density.grid<float>() != nullptr, count,
        size_t(grid->activeVoxelCount()), differ, liesThere);
}

template <typename T>
static void attribute(const std::string& name) {
    auto handle = nanovdb::io::readGrid("grid.nvdb", name);
    auto* grid = handle.grid<T>();
    bool isValid = grid && nanovdb::isValid(*grid, true, true) && grid->isUnknown();
    auto accessor = grid->getAccessor();
    std::ifstream lines(name + ".txt");
    size_t count = 0, differ = 0;
    for (uint32_t n[6]; lines >> n[0] >> n[1] >> n[2] >> n[3] >> n[4] >> n[5]; ++count) {
        Coord ijk(n[0], n[1], n[2]);
        T value = accessor.getValue(ijk);
        differ += !accessor.isActive(ijk) || memcmp(&value, &n[3], sizeof(T)) != 0;
    }
    printf("%d %zu %zu %zu\n", isValid, count, size_t(grid->activeVoxelCount()), differ);
}

static void distances(const std::string& name) {
    auto handle = nanovdb::io::readGrid(name + ".nvdb", std::string("surface"));
    auto* grid = handle.grid<float>();
    int dims[3];
    float width;
    double size;
    std::ifstream(name + ".txt") >> dims[0] >> dims[1] >> dims[2] >> width >> size;
    std::ifstream raw(name + ".raw", std::ios::binary);
    bool isValid = grid && nanovdb::isValid(*grid, true, true);
    auto accessor = grid->getAccessor();
    size_t values = 0, active = 0;
    for (int x = -3; x < dims[0] + 3; ++x)
        for (int y = -3; y < dims[1] + 3; ++y)
            for (int z = -3; z < dims[2] + 3; ++z) {
                float voxels = width;
                if (x >= 0 && y >= 0 && z >= 0 && x < dims[0] && y < dims[1] && z < dims[2])
                    raw.read(reinterpret_cast<char*>(&voxels), 4);
                Coord ijk(x, y, z);
                values += accessor.getValue(ijk) != float(voxels * size);
                active += accessor.isActive(ijk) != (std::abs(voxels) < width);
            }
    printf("%d %d %zu %zu %lu\n", isValid, grid->isLevelSet(), values, active,
        (unsigned long)grid->activeVoxelCount());
}

static float light(int value) {
    double v = value / 255.0;
    return float(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
}

static void writeColors() {
    nanovdb::GridBuilder<float> density(0.0f, nanovdb::GridClass::FogVolume);
    nanovdb::GridBuilder<nanovdb::Vec3f> colors(nanovdb::Vec3f(0.5f));
    auto densities = density.getAccessor();
    auto values = colors.getAccessor();
    unsigned state = 1;
    for (int i = 0; i < 3000; ++i) {
        auto next = [&](int n) { return int((state = state * 1664525u + 1013904223u) >> 8) % n; };
        Coord ijk(next(300) - 160, next(40) - 8, next(200) + 1000);
        densities.setValue(ijk, 1.0f);
        values.setValue(ijk, nanovdb::Vec3f(light(ijk[0] & 255), light(ijk[1] & 255), light(ijk[2] & 255)));
    }
    std::vector<nanovdb::GridHandle<>> handles;
    handles.push_back(colors.getHandle<>(0.25, Vec3d(1, 2, 3), "Cd"));
    handles.push_back(density.getHandle<>(0.25, Vec3d(1, 2, 3), "density"));
    nanovdb::io::writeGrids("none.nvdb", handles, nanovdb::io::Codec::NONE);
    nanovdb::io::writeGrids("zip.nvdb", handles, nanovdb::io::Codec::ZIP);
    nanovdb::io::writeGrids("blosc.nvdb", handles, nanovdb::io::Codec::BLOSC);
}

static void write() {
    nanovdb::GridBuilder<float> builder(0.0f, nanovdb::GridClass::FogVolume);
    auto accessor = builder.getAccessor();
    std::ofstream voxels("voxels.txt");
    unsigned state = 1;
    for (int i = 0; i < 3000; ++i) {
        auto next = [&](int n) { return int((state = state * 1664525u + 1013904223u) >> 8) % n; };
        Coord ijk(next(300) - 160, next(40) - 8, next(200) + 1000);
        float value = float(next(7) - 2);
        if (accessor.isActive(ijk) || value == 0) continue;
        accessor.setValue(ijk, value);
        if (value > 0) voxels << ijk[0] << ' ' << ijk[1] << ' ' << ijk[2] << '\n';
    }
    auto handle = builder.getHandle<>(0.25, Vec3d(1, 2, 3), "smoke");
    nanovdb::io::writeGrid("none.nvdb", handle, nanovdb::io::Codec::NONE);
    nanovdb::io::writeGrid("zip.nvdb", handle, nanovdb::io::Codec::ZIP);
    nanovdb::io::writeGrid("blosc.nvdb", handle, nanovdb::io::Codec::BLOSC);
    auto surface = nanovdb::createLevelSetSphere<float>(10.0f);
    nanovdb::io::writeGrid("level.nvdb", surface, nanovdb::io::Codec::NONE);
    // As nanovdb_convert does it: a segment for each grid.
    std::ofstream segments("segments.nvdb", std::ios::binary);
    nanovdb::io::writeGrid(segments, surface, nanovdb::io::Codec::NONE);
    nanovdb::io::writeGrid(segments, handle, nanovdb::io::Codec::ZIP);
    std::vector<nanovdb::GridHandle<>> handles;
    handles.push_back(std::move(surface));
    handles.push_back(std::move(handle));
    nanovdb::io::writeGrids("several.nvdb", handles, nanovdb::io::Codec::NONE);
}

int main(int argc, char** argv) {
    if (argc == 3 && !strcmp(argv[1], "check")) {
        for (int n = 0; n < atoi(argv[2]); ++n) check(n);
    } else if (argc == 3 && !strcmp(argv[1], "pbrt")) {
        for (int n = 0; n < atoi(argv[2]); ++n) pbrt(n);
    } else if (argc == 4 && !strcmp(argv[1], "attribute")) {
        std::string type = argv[3];
        if (type == "vector") attribute<nanovdb::Vec3f>(argv[2]);
        else if (type == "float") attribute<float>(argv[2]);
        else attribute<int32_t>(argv[2]);
    } else if (argc == 3 && !strcmp(argv[1], "distances")) {
        distances(argv[2]);
    } else if (argc == 2 && !strcmp(argv[1], "far")) {
        far();
    } else if (argc == 2 && !strcmp(argv[1], "colors")) {
        colors();
    } else if (argc == 2 && !strcmp(argv[1], "writecolors")) {
        writeColors();
    } else {
        write();
    }
}
