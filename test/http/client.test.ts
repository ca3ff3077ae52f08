import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { type ClientOptions, createClients } from '../../src/http/transport/client.ts';

const PROXIES = ['10.0.0.0/8', '192.0.2.7', 'fd00::/8'];

/** [fact, address of the connection, X-Forwarded-For, name of the client]. */
const cases: readonly (readonly [string, string | undefined, string | undefined, string])[] = [
  ['a client that comes directly is its address', '203.0.113.9', undefined, '203.0.113.9'],
  ['an IPv4-mapped address is the IPv4 one', '::ffff:203.0.113.9', undefined, '203.0.113.9'],
  ['an IPv4-mapped address in hex is the IPv4 one too', '::FFFF:cb00:7109', undefined, '203.0.113.9'],
  ['a forwarded address from an untrusted peer is ignored', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a forwarded address from a trusted proxy is the client', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['a trusted proxy may have an IPv4-mapped address', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['addresses that the client itself sent are ignored', '10.1.2.3', '1.1.1.1, 2.2.2.2, 198.51.100.1', '198.51.100.1'],
  ['trusted proxies are skipped from the end', '10.1.2.3', '6.6.6.6, 198.51.100.1, 192.0.2.7,10.9.9.9', '198.51.100.1'],
  ['a trusted address behind an untrusted one is not read', '10.1.2.3', '10.5.5.5, 6.6.6.6', '6.6.6.6'],
  ['when all addresses are proxies, the farthest is the client', '10.1.2.3', '10.5.5.5, 10.6.6.6', '10.5.5.5'],
  ['a proxy that forwards no address is the client', '10.1.2.3', undefined, '10.1.2.3'],
  ['a proxy that hides its client is the client', '10.1.2.3', '1.1.1.1, unknown', '10.1.2.3'],
  ['a proxy after an invalid address is the client', '10.1.2.3', '1.1.1.1, <script>, 10.6.6.6', '10.6.6.6'],
  ['a proxy after an empty element is the client', '10.1.2.3', '1.1.1.1,,', '10.1.2.3'],
  ['a port is left out', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
  ['a port after brackets too', '10.1.2.3', '[2001:db8:1:2:3:4:5:6]:4711', '2001:db8:1:2::/64'],
  ['an IPv6 client is its /64', '2001:db8::1', undefined, '2001:db8:0:0::/64'],
  ['another address of the same /64 is the same client', '2001:0DB8:0:0:ffff::9', undefined, '2001:db8:0:0::/64'],
  ['a zone is left out', 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
  ['a trusted proxy may have an IPv6 address', 'fd12::1', '::ffff:198.51.100.1', '198.51.100.1'],
  ['a connection without an address is the unknown client', undefined, '198.51.100.1', 'unknown'],
];

for (const [fact, remoteAddress, forwarded, expected] of cases) {
  test(fact, () => {
    const client = nameOf({ trustedProxies: PROXIES }, remoteAddress, { 'x-forwarded-for': forwarded });
    assert.equal(client, `address:${expected}`);
  });
}

test('without trusted proxies X-Forwarded-For is ignored', () => {
  assert.equal(nameOf({ trustedProxies: [] }, '10.0.0.1', { 'x-forwarded-for': '1.1.1.1' }), 'address:10.0.0.1');
});

test('a very long list of addresses is read up to a maximum', () => {
  const forwarded = `1.1.1.1,${'10.0.0.1,'.repeat(5000)}10.0.0.2`;
  const client = nameOf({ trustedProxies: PROXIES }, '10.1.2.3', { 'x-forwarded-for': forwarded });
  assert.equal(client, 'address:10.0.0.1');
});

test('the configured header names the client, however long it is', () => {
  const options: ClientOptions = { trustedProxies: [], clientHeader: 'x-api-key' };
  const names = ['a', 'b', 'x'.repeat(8000), `${'x'.repeat(7999)}y`].map((key) =>
    nameOf(options, '1.1.1.1', { 'x-api-key': key }),
  );
  assert.equal(new Set(names).size, 4);
  assert.equal(nameOf(options, '2.2.2.2', { 'x-api-key': ' a ' }), names[0]);
  for (const name of names) assert.match(name, /^key:[\w-]{43}$/);
});

test('without the header, or with an empty one, the address names the client', () => {
  const options: ClientOptions = { trustedProxies: [], clientHeader: 'x-api-key' };
  assert.equal(nameOf(options, '1.1.1.1', {}), 'address:1.1.1.1');
  assert.equal(nameOf(options, '1.1.1.1', { 'x-api-key': '  ' }), 'address:1.1.1.1');
});

test('when proxies are trusted, the header is accepted only from them', () => {
  const options: ClientOptions = { trustedProxies: PROXIES, clientHeader: 'x-api-key' };
  const headers = { 'x-api-key': 'made-up', 'x-forwarded-for': '198.51.100.1' };
  assert.equal(nameOf(options, '203.0.113.9', headers), 'address:203.0.113.9');
  assert.match(nameOf(options, '10.1.2.3', headers), /^key:/);
});

function nameOf(
  options: ClientOptions,
  remoteAddress: string | undefined,
  headers: Readonly<Record<string, string | undefined>>,
): string {
  return createClients(options)({ headers, socket: { remoteAddress } } as unknown as IncomingMessage);
}
