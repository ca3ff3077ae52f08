import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { keepJournals } from '../../../loadtest/runner/run.ts';
import { temporaryFolder } from '../../folder.ts';
import { listening } from '../../http-listener.ts';

const folder = temporaryFolder({ after });

/** A fake admin listener with one drill, which is over after the given number of requests. */
async function admin(drill: string | undefined, looksUntilOver: number) {
  let looks = 0;
  let reports = 0;
  const tokens = new Set<string>();
  const url = await listening({ after }, (request, response) => {
    tokens.add(request.headers.authorization ?? 'none');
    const { pathname } = new URL(request.url ?? '', 'http://admin');
    if (drill === undefined || !pathname.startsWith(`/admin/drills/${drill}`)) {
      response.writeHead(404, { 'content-type': 'application/problem+json' });
      response.end('{"code":"unknown-drill","status":404,"title":"No","detail":"There is no such drill."}');
    } else if (pathname.endsWith('/report')) {
      reports += 1;
      response.end('<html>report</html>');
    } else {
      looks += 1;
      response.end(JSON.stringify({ id: drill, state: { kind: looks > looksUntilOver ? 'over' : 'ending' } }));
    }
  });
  return { url, tokens, reports: () => reports };
}

function event(drill: string): { atMs: number; kind: string; text: string; drill: string } {
  return { atMs: 1, kind: 'drill-started', text: 'canary', drill };
}

test('the journal and the report of a drill are saved once it is over, from any process that has them', async () => {
  const [other, owner] = [await admin(undefined, 0), await admin('d-1', 2)];
  await keepJournals({
    events: [event('d-1'), event('d-1')],
    adminUrls: [other.url, owner.url],
    adminToken: 'choose-one',
    folder,
    say: (text) => assert.fail(text),
  });
  assert.equal(JSON.parse(readFileSync(join(folder, 'drill-d-1.json'), 'utf8')).state.kind, 'over');
  assert.equal(readFileSync(join(folder, 'drill-d-1.html'), 'utf8'), '<html>report</html>');
  assert.deepEqual([[...owner.tokens], owner.reports()], [['Bearer choose-one'], 1]);
});

test('a drill that does not end in time is saved in its current state', async () => {
  const owner = await admin('d-2', Number.POSITIVE_INFINITY);
  const said: string[] = [];
  await keepJournals({
    events: [event('d-2')],
    adminUrls: [owner.url],
    folder,
    say: (text) => said.push(text),
    waitMs: 0,
  });
  assert.equal(JSON.parse(readFileSync(join(folder, 'drill-d-2.json'), 'utf8')).state.kind, 'ending');
  assert.deepEqual(said, []);
});

test('an id that would lead out of the folder is not requested', async () => {
  const { url, tokens } = await admin('d-4', 0);
  const before = readdirSync(folder).length;
  await keepJournals({
    events: [event('../d-4'), event('')],
    adminUrls: [url],
    folder,
    say: (text) => assert.fail(text),
  });
  assert.deepEqual([tokens.size, readdirSync(folder).length], [0, before]);
});
