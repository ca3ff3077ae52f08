import exec from 'k6/execution';
import http from 'k6/http';

/** Whoever answers there should be serpcache: load on a host that was named by mistake is still load. */
export function checkReady(url: string): void {
  const reply = http.get(`${url}/readyz`, { responseType: 'text', timeout: '5s', redirects: 0 });
  const isOurs = typeof reply.body === 'string' && /^\{"status":"[a-z-]+","process":/.test(reply.body);
  if (reply.status === 0) exec.test.abort(`nobody answers at ${url}: ${reply.error}`);
  if (!isOurs) exec.test.abort(`${url} is not serpcache: GET /readyz answered ${reply.status}`);
  if (reply.status !== 200) exec.test.abort(`${url} is not ready: GET /readyz answered ${reply.status}`);
}
