// Keeps the page's files, so that it works without a network. web/build puts in the names, a version
// and the content policy of the page.

// Caches belong to the origin, which other pages may share: the name begins with this page's own.
const PREFIX = `trivox ${registration.scope} `;
const VERSION = `${PREFIX}__VERSION__`;
const FILES = ['__FILES__'];
const POLICY = "__POLICY__";

addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(VERSION);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: 'no-cache' })));
    // A new version waits until no page of the old one is open: pages start workers later.
  })());
});

addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    const names = await caches.keys();
    const old = names.filter((name) => name.startsWith(PREFIX) && name !== VERSION);
    await Promise.all(old.map((name) => caches.delete(name)));
    await clients.claim();
  })());
});

addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET' || !event.request.url.startsWith(registration.scope)) return;
  event.respondWith((async () => {
    const cache = await caches.open(VERSION);
    const found = await cache.match(event.request, { ignoreSearch: true });
    if (!found) return fetch(event.request);
    if (event.request.destination !== 'worker') return found;
    // The page's policy binds a worker by a header only.
    const headers = new Headers(found.headers);
    headers.set('Content-Security-Policy', POLICY);
    return new Response(found.body, { headers });
  })());
});
