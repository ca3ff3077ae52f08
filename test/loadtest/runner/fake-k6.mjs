#!/usr/bin/env node
// A fake k6: it prints its expected duration, and then behaves as FAKE_K6 says.
import { appendFileSync, writeFileSync } from 'node:fs';

const does = process.env.FAKE_K6 ?? 'passed';
const [command] = process.argv.slice(2);
const log = (text) => appendFileSync('k6.log', `${text}\n`);

if (command === 'version') {
  console.log('k6 v1.8.1 (go1.26.0, linux/amd64)');
} else if (command === 'inspect') {
  if (does === 'unreadable') {
    console.error('Error: MAX_VUS is odd\n\tat file:///x-load.ts:1:1(2)');
    process.exit(107);
  }
  console.log(JSON.stringify({ totalDuration: '1m5s', setupTimeout: null, teardownTimeout: '2s' }));
} else if (does === 'broken') {
  log('Error: BASE_URL names no host\n\tat setup (file:///smoke.ts:2:32(3))');
  process.exit(107);
} else if (does === 'silent') {
  log('nobody answers there');
} else if (does === 'deaf') {
  process.on('SIGINT', () => log('not listening'));
  process.on('SIGUSR2', () => log('asked'));
  setTimeout(() => process.exit(1), 120_000);
  log('under way');
} else if (does === 'waits') {
  let interrupts = 0;
  process.on('SIGINT', () => {
    interrupts += 1;
    setTimeout(() => end('passed', 105, { interrupts }), 300);
  });
  setTimeout(() => process.exit(1), 120_000);
  console.log('k6 is under way');
} else {
  end(does, does === 'failed' ? 99 : 0, {});
}

function end(kind, code, more) {
  log('serpcache-event {"atMs":1000,"kind":"note","text":"said"}');
  const { BASE_URL, ADMIN_URL, ADMIN_TOKEN, BASE_RPS, QUERIES, SEED, RUN_ID } = process.env;
  const args = process.argv.slice(2);
  const receiver = process.env.K6_PROMETHEUS_RW_SERVER_URL;
  const told = { BASE_URL, ADMIN_URL, ADMIN_TOKEN, BASE_RPS, QUERIES, SEED, RUN_ID, args, receiver };
  const verdict = { kind, detail: `it ${kind}.`, ...(kind === 'invalid' ? { reasons: ['too few VUs'] } : {}) };
  const summary = {
    script: 'smoke',
    purpose: 'to be seen',
    startedAtMs: 1000,
    durationMs: 2000,
    target: { baseUrls: [BASE_URL], adminUrls: [] },
    queries: { file: 'q.tsv', count: 1, domains: [], exponent: 1, offset: 0, onceShare: 0, seed: 1 },
    baseRps: Number(BASE_RPS),
    steps: [],
    generator: { requests: 0, dropped: 0, vusUsed: 1, vusCap: 10, scriptFaults: 0, emptyThresholds: [] },
    checks: [],
    verdict,
    told: { ...told, ...more },
  };
  writeFileSync(process.env.SUMMARY, JSON.stringify(summary));
  console.log('k6 has summed up');
  process.exit(code);
}
