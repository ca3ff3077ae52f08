import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePorts } from '../../loadtest/stack/process.ts';
import { makeCertificates } from '../../loadtest/stack/redis-node.ts';
import { temporaryFolder } from '../folder.ts';
import { listening } from '../http-listener.ts';
import { adminService, callCli, TOKEN } from './harness.ts';

/** A server without domains that records the requests. */
async function listener(t: TestContext) {
  const asked: IncomingHttpHeaders[] = [];
  const url = await listening(t, ({ headers }, response) => {
    asked.push(headers);
    response.end('{"domains":[]}');
  });
  return { url, port: new URL(url).port, latest: () => asked.at(-1) };
}

test('the address comes from the arguments, else from the environment; the request names the operator', async (t) => {
  const { url, port, latest } = await listener(t);
  assert.equal((await callCli(['popular', '--admin', url.replace('http://', '')], { env: {} })).code, 0);
  assert.equal((await callCli(['popular'], { env: { ADMIN_PORT: port } })).code, 0);
  assert.equal(latest()?.['x-operator'], 'ana@desk');
  assert.equal(latest()?.authorization, undefined);
});

test('the token comes from a file, else from the environment; a configured token is sent to the configured address only', async (t) => {
  const { url, port, latest } = await listener(t);
  const directory = temporaryFolder(t);
  const file = join(directory, 'token');
  writeFileSync(file, 'from-a-file\n');
  await callCli(['popular', '--admin', url, '--token-file', file], { adminToken: 'from-env' });
  assert.equal(latest()?.authorization, 'Bearer from-a-file');
  await callCli(['popular', '--admin', url], { adminToken: 'from-env' });
  assert.equal(latest()?.authorization, 'Bearer from-env');
  const env = { ADMIN_PORT: port, ADMIN_TOKEN: 'configured-for-this-service' };
  await callCli(['popular'], { env });
  assert.equal(latest()?.authorization, 'Bearer configured-for-this-service');
  await callCli(['popular', '--admin', url], { env });
  assert.equal(latest()?.authorization, undefined);
  writeFileSync(file, 'two words\n');
  const bad = await callCli(['popular', '--admin', url, '--token-file', file]);
  assert.equal(bad.code, 64);
  assert.doesNotMatch(bad.err, /two words/);
});

test('without a listener the error names the address and tells how to give another', async () => {
  const [port = 0] = await freePorts(1);
  const { code, out, err } = await callCli(['popular', '--admin', `http://127.0.0.1:${port}`]);
  assert.deepEqual([code, out], [3, '']);
  assert.match(
    err,
    new RegExp(`no answer from http://127\\.0\\.0\\.1:${port} \\(connection refused\\).*--admin URL.*ADMIN_HOST`),
  );
});

test('a wrong configuration is exit 78', async () => {
  const { code, err } = await callCli(['popular'], { env: { ADMIN_PORT: 'x' } });
  assert.equal(code, 78);
  assert.match(err, /ADMIN_PORT/);
});

const answering = (t: TestContext, status: number, headers: Record<string, string>, body: string): Promise<string> =>
  listening(t, (_, response) => response.writeHead(status, headers).end(body));

test('an answer of another program is reported as such, and a redirect is not followed', async (t) => {
  const { url, requests } = await adminService(t);
  for (const there of [
    await answering(t, 200, { 'content-type': 'text/html' }, '<html>router</html>'),
    await answering(t, 302, { location: url }, ''),
    await answering(t, 502, {}, 'bad gateway'),
  ]) {
    const { code, err } = await callCli(['popular', '--admin', there], { adminToken: 'secret' });
    assert.equal(code, 3);
    assert.match(err, /answered (200|302|502), and not as serpcache's admin listener does/);
  }
  assert.deepEqual(requests(), []);
});

test('a missing token, a wrong token and the public listener are reported with advice', async (t) => {
  const { url } = await adminService(t);
  for (const [given, told] of [
    [{ env: {} }, /Token required: .* Here: set ADMIN_TOKEN, or .*--token-file/],
    [{ adminToken: 'wrong' }, /Wrong token: .* Here: it came from ADMIN_TOKEN or --token-file/],
  ] as const) {
    const { code, err } = await callCli(['popular', '--admin', url], given);
    assert.equal(code, 3);
    assert.match(err, told);
  }
  const notFound = JSON.stringify({ code: 'not-found', title: 'Not found', status: 404, detail: 'No such path.' });
  const elsewhere = await callCli(['popular', '--admin', await answering(t, 404, {}, notFound)]);
  assert.match(elsewhere.err, /Not found: No such path\. Perhaps this is the public listener/);
  const tooMany = { code: 'too-many-tokens', title: 'Too many wrong tokens', status: 429, detail: 'Ask in a second.' };
  const slowed = await callCli(['popular', '--admin', await answering(t, 429, {}, JSON.stringify(tooMany))]);
  assert.match(slowed.err, /Too many wrong tokens: Ask in a second\. Here: it came from ADMIN_TOKEN or --token-file/);
});

test('over TLS an unknown authority is refused with advice, and one of --ca-file is trusted', async (t) => {
  const directory = temporaryFolder(t);
  const { certFile, keyFile, caFile } = await makeCertificates(directory);
  const { url, port } = await adminService(
    t,
    {},
    { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') },
  );
  assert.equal(url, `https://127.0.0.1:${port}`);
  const untrusted = await callCli(['popular', '--admin', url]);
  assert.equal(untrusted.code, 3);
  assert.match(
    untrusted.err,
    /no answer from https:.* \(its certificate is not signed by a trusted authority: --ca-file/,
  );
  const plain = await callCli(['popular', '--admin', url.replace('https:', 'http:')]);
  assert.match(plain.err, /connection closed; perhaps it speaks https:/);
  const noFile = await callCli(['popular', '--admin', url, '--ca-file', keyFile]);
  assert.equal(noFile.code, 64);
  assert.match(noFile.err, /--ca-file .* is not a readable PEM file of certificates/);

  const trusted = await callCli(['popular', '--admin', url, '--ca-file', caFile]);
  assert.deepEqual([trusted.code, trusted.err], [0, '']);
  // On the service's machine, the configuration says that the listener uses TLS.
  const config = join(directory, 'serpcache.yaml');
  const admin = `{ port: ${port}, token: ${TOKEN}, tls: { cert: ${certFile}, key: ${keyFile} } }`;
  writeFileSync(config, `admin: ${admin}\ndomains: { goods: { engine: { kind: sqlite } } }\n`);
  const configured = await callCli(['popular', '--ca-file', caFile], { env: { SERPCACHE_CONFIG: config } });
  assert.deepEqual([configured.code, configured.err], [0, '']);

  const { url: unsecured } = await adminService(t);
  const noTls = await callCli(['popular', '--admin', unsecured.replace('http:', 'https:'), '--ca-file', caFile]);
  assert.match(noTls.err, /it speaks no TLS: http:\/\/ instead/);
});
