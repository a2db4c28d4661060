// Rays against the surface of voxels, as rectangles, by Embree: one ray at a time.
//
// I. Wald and others, "Embree: A Kernel Framework for Efficient CPU Ray Tracing" (SIGGRAPH, 2014).
// Usage: embree RECTANGLES RAYS HITS THREADS RUNS [robust]
#include "rays.h"

#include <embree3/rtcore.h>

#include <array>
#include <cmath>

struct Rectangle {
    float corners[4][3];
};

std::atomic<int64_t> bytes{0};

bool count_bytes(void*, ssize_t more, bool)
{
    bytes += more;
    return true;
}

struct Tracer {
    RTCScene scene;

    Hit operator()(const Ray& ray) const
    {
        const auto &o = ray.origin, &d = ray.direction;
        RTCRayHit query;
        query.ray = {o[0], o[1], o[2], 0.0f, d[0], d[1], d[2], 0.0f,
                     std::numeric_limits<float>::infinity(), ~0u, 0, 0};
        query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        rtcIntersect1(scene, &context, &query);
        if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return NONE;
        return behind(ray, query.ray.tfar, {query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z});
    }

    // The voxel on the far side of the face that the ray is at.
    static Hit behind(const Ray& ray, float time, std::array<float, 3> normal)
    {
        const auto is_less = [](float a, float b) { return std::abs(a) < std::abs(b); };
        const auto axis = std::max_element(normal.begin(), normal.end(), is_less) - normal.begin();
        Hit hit;
        for (int a = 0; a < 3; ++a) {
            const float at = ray.origin[a] + time * ray.direction[a];
            const float plane = std::round(at);
            const float behind_plane = ray.direction[a] > 0.0f ? plane : plane - 1.0f;
            hit.voxel[a] = int32_t(a == axis ? behind_plane : std::floor(at));
        }
        return hit;
    }
};

int main(int argc, char** argv)
{
    const auto rectangles = read_all<Rectangle>(argv[1]);
    const bool is_robust = argc > 6;
    RTCDevice device = rtcNewDevice(nullptr);
    rtcSetDeviceMemoryMonitorFunction(device, count_bytes, nullptr);
    RTCScene scene = rtcNewScene(device);
    const double build_ms = milliseconds([&] {
        RTCGeometry surface = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_QUAD);
        const size_t count = rectangles.size();
        auto corners = static_cast<Rectangle*>(rtcSetNewGeometryBuffer(
            surface, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, sizeof(float[3]), 4 * count));
        std::copy(rectangles.begin(), rectangles.end(), corners);
        auto indices = static_cast<uint32_t*>(rtcSetNewGeometryBuffer(
            surface, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT4, sizeof(uint32_t[4]), count));
        for (uint32_t i = 0; i < 4 * count; ++i) indices[i] = i;
        rtcCommitGeometry(surface);
        rtcAttachGeometry(scene, surface);
        rtcReleaseGeometry(surface);
        if (is_robust) rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
        rtcCommitScene(scene);
    });
    measure(argv, uint64_t(bytes), build_ms, [&] { return Tracer{scene}; });
}
