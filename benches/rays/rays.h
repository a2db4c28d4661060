// What the other tracers share: rays and hits as the benchmark writes and reads them, and the clock.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Ray {
    float origin[3], direction[3];
};

struct Hit {
    int32_t voxel[3];
};

constexpr Hit NONE = {{-1, -1, -1}};

// Rays that a thread takes at a time.
constexpr size_t BLOCK = 4096;

template <typename T>
std::vector<T> read_all(const std::string& path)
{
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<T> items(size_t(file.tellg()) / sizeof(T));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(items.data()), items.size() * sizeof(T));
    return items;
}

template <typename F>
double milliseconds(F&& step)
{
    const auto start = std::chrono::steady_clock::now();
    step();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Follows the block of rays that begins at `begin`.
template <typename Tracer>
void trace_block(const std::vector<Ray>& rays, std::vector<Hit>& hits, size_t begin, Tracer& tracer)
{
    const size_t end = std::min(begin + BLOCK, rays.size());
    for (size_t i = begin; i < end; ++i) hits[i] = tracer(rays[i]);
}

// Follows all rays by `threads` threads, each with a tracer of its own.
template <typename MakeTracer>
void trace(const std::vector<Ray>& rays, std::vector<Hit>& hits, int threads, MakeTracer&& make_tracer)
{
    std::atomic<size_t> next{0};
    const auto work = [&] {
        auto tracer = make_tracer();
        for (size_t begin; (begin = next.fetch_add(BLOCK)) < rays.size();)
            trace_block(rays, hits, begin, tracer);
    };
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (auto& thread : others) thread.join();
}

// Times all rays by one thread and by all, writes the hits, and prints the bytes and milliseconds of
// what is searched, and the milliseconds of the fastest runs by one thread, of each block, and by all.
template <typename MakeTracer>
void measure(char** argv, uint64_t bytes, double build_ms, MakeTracer&& make_tracer)
{
    const auto rays = read_all<Ray>(argv[2]);
    const int all = std::stoi(argv[4]), runs = std::stoi(argv[5]);
    std::vector<Hit> hits(rays.size());
    auto tracer = make_tracer();
    std::vector<double> blocks_ms((rays.size() + BLOCK - 1) / BLOCK, std::numeric_limits<double>::infinity());
    double one_ms = 0.0, all_ms = std::numeric_limits<double>::infinity();
    for (int run = 0; run < runs; ++run)
        for (size_t block = 0; block < blocks_ms.size(); ++block)
            blocks_ms[block] = std::min(
                blocks_ms[block], milliseconds([&] { trace_block(rays, hits, block * BLOCK, tracer); }));
    for (double block_ms : blocks_ms) one_ms += block_ms;
    for (int run = 0; run < runs; ++run)
        all_ms = std::min(all_ms, milliseconds([&] { trace(rays, hits, all, make_tracer); }));
    std::ofstream file(argv[3], std::ios::binary);
    file.write(reinterpret_cast<const char*>(hits.data()), hits.size() * sizeof(Hit));
    if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + argv[3]);
    std::printf("%llu %g %g %g\n", static_cast<unsigned long long>(bytes), build_ms, one_ms, all_ms);
}
