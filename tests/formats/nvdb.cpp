// NanoVDB's own headers on what is written here, and the other way round. Called in a folder:
//
//     nvdb check N    reads 0.nvdb to N-1.nvdb, each beside its voxels as .npy; prints a line each
//     nvdb far        reads far.nvdb beside the list of its voxels, and prints a line
//     nvdb colors     reads the colours of grid.nvdb beside the list of them, and prints a line
//     nvdb writecolors writes files whose colours are their places'
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
    std::vector<nanovdb::GridHandle<>> handles;
    handles.push_back(std::move(surface));
    handles.push_back(std::move(handle));
    nanovdb::io::writeGrids("several.nvdb", handles, nanovdb::io::Codec::NONE);
}

int main(int argc, char** argv) {
    if (argc == 3 && !strcmp(argv[1], "check")) {
        for (int n = 0; n < atoi(argv[2]); ++n) check(n);
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
