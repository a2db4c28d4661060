// Keeps the page's files, so that it works without a network. web/build puts in the names and a version.

const VERSION = '__VERSION__';
const FILES = ['__FILES__'];

addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(VERSION);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: 'no-cache' })));
    await skipWaiting();
  })());
});

addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    const old = (await caches.keys()).filter((name) => name !== VERSION);
    await Promise.all(old.map((name) => caches.delete(name)));
    await clients.claim();
  })());
});

addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET' || !event.request.url.startsWith(registration.scope)) return;
  event.respondWith((async () => {
    const cache = await caches.open(VERSION);
    const found = await cache.match(event.request, { ignoreSearch: true });
    return found ?? fetch(event.request);
  })());
});
