/** `bare.mjs <setup>`: pages in a Map, each as long as the setup says. */
import { createServer } from 'node:http';
import { fetchPage } from './origin-page.mjs';

const { port, origin, ttlSeconds } = JSON.parse(process.argv[2] ?? '{}');
/** @type {Map<string, { body: Buffer, untilMs: number }>} */
const pages = new Map();

/** @param {string} url */
async function load(url) {
  const body = Buffer.from(await fetchPage(origin + url));
  pages.set(url, { body, untilMs: Date.now() + ttlSeconds * 1000 });
  return body;
}

/** @param {import('node:http').ServerResponse} response @param {Buffer} body */
function send(response, body) {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length });
  response.end(body);
}

const server = createServer((request, response) => {
  const url = request.url ?? '';
  if (request.method === 'POST' && url === '/purge') {
    pages.clear();
    response.writeHead(204).end();
    return;
  }
  const page = pages.get(url);
  if (page !== undefined && page.untilMs > Date.now()) send(response, page.body);
  else
    load(url).then(
      (body) => send(response, body),
      () => response.writeHead(503).end(),
    );
});
server.listen(port, '127.0.0.1');
