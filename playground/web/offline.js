// SPDX-License-Identifier: MIT
// Service worker: keeps the page's files, so that the page also opens without a network.
const version = 'VERSION';
const files = ['FILES'];
const cacheName = `reckoner-playground-${version}`;

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(['./', ...files])));
  self.skipWaiting();
});

self.addEventListener('activate', (event) => {
  event.waitUntil(
    caches.keys().then((names) =>
      Promise.all(names.filter((n) => n.startsWith('reckoner-playground-') && n !== cacheName).map((n) => caches.delete(n))),
    ),
  );
});

self.addEventListener('fetch', (event) => {
  if (event.request.method !== 'GET') return;
  event.respondWith(
    fetch(event.request).catch(() => caches.match(event.request, { ignoreSearch: true }).then((r) => r ?? Response.error())),
  );
});
