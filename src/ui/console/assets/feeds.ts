import type { Journal } from '../../../operations/drills/journal.ts';
import { type Api, ApiProblem, asProblem, type FeedValues, type LiveLine } from './api.ts';
import {
  currentDomain,
  type FeedState,
  isHalted,
  type Model,
  type StreamState,
  shadowStatus,
  shadowSummary,
  type View,
} from './model.ts';

/** A resource that is read at intervals while a view shows it. */
export interface Feed {
  readonly name: keyof FeedValues;
  readonly path: string;
  /**
   * The resource; by default the path. The value of another resource is forgotten, and one of the same is shown
   * until the next is read.
   */
  readonly about?: string;
  readonly intervalMs: number;
  /** Continues the value that is known; by default the path is read. */
  readonly read?: (api: Api, known: FeedState<never>) => Promise<unknown>;
}

/** The service sends one line a second: after 5 s without one the connection is dead. */
const MAX_SILENCE_MS = 5000;
const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** Maximum length of a line. A line holds every domain of the service: some kilobytes. */
const MAX_LINE_CHARACTERS = 4 * 1024 * 1024;
/** The service keeps no more samples either. */
const MAX_SAMPLES = 4000;
/**
 * After this number of empty reads all samples are read again. The service drops every second sample of a long drill,
 * and reads from the next sample number are then empty for a long time.
 */
const MAX_EMPTY_READS = 3;
/** The service looks every 15 s by default. */
const DOCTOR_INTERVAL_MS = 5000;
/** The service takes a sample of a shadow every 2 s. */
const SHADOW_INTERVAL_MS = 2000;
/** The service takes two samples of a drill a second. */
const DRILL_INTERVAL_MS = 900;
/**
 * After this time without a read the samples known are forgotten. The service joins neighbours when it has 900, and falls
 * to half of them: within this time the fall cannot be made up unseen.
 */
const MAX_SHADOW_PAUSE_MS = 300_000;

/**
 * Reads `/admin/live` until the page is closed, reconnects, and reports the state of the connection. @returns Ends a
 * wait at once.
 */
export function followLive({
  api,
  onLine,
  onConnection,
  random,
}: {
  readonly api: Api;
  readonly onLine: (line: LiveLine) => void;
  readonly onConnection: (connection: StreamState) => void;
  readonly random: () => number;
}): { readonly retry: () => void } {
  let retryMs = MIN_RETRY_MS;
  let wasLive = false;
  let wake = () => {};

  const readStream = async (): Promise<never> => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const expectLine = () => {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(new ApiProblem('silent', 'Nothing was heard for 5 s.')), MAX_SILENCE_MS);
    };
    try {
      const response = await api.open('/admin/live', stop.signal);
      expectLine();
      if (response.body === null) throw new ApiProblem('unreadable', 'The answer has no body.');
      for await (const line of streamLines(response.body)) {
        expectLine();
        retryMs = MIN_RETRY_MS;
        wasLive = true;
        onConnection({ kind: 'live' });
        onLine(line as LiveLine);
      }
      throw new ApiProblem('ended', 'The service has ended the connection.');
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
  };

  const run = async () => {
    onConnection({ kind: 'connecting' });
    for (;;) {
      const problem = await readStream().catch(asProblem);
      // Jitter, so that many consoles do not reconnect together.
      const waitMs = retryMs * (0.75 + 0.5 * random());
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
      onConnection({ kind: 'lost', why: problem.message, wasLive, retryAtMs: performance.now() + waitMs });
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = setTimeout(resolve, waitMs);
      await promise;
      clearTimeout(timer);
    }
  };
  void run();
  return { retry: () => wake() };
}

/** The lines of a body, each parsed as JSON, as they arrive. */
export async function* streamLines(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown, void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let pending = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      pending += value;
      const parts = pending.split('\n');
      pending = parts.pop() ?? '';
      if (pending.length > MAX_LINE_CHARACTERS) throw new SyntaxError('a line without an end');
      for (const part of parts) if (part.trim() !== '') yield JSON.parse(part);
    }
  } finally {
    // A consumer that stops early must not keep the connection open.
    await reader.cancel().catch(() => {});
  }
}

/** The feeds that the current view needs. A feed that no view shows is not read. */
export function feedsFor(model: Model): readonly Feed[] {
  const domain = currentDomain(model)?.domain;
  if (domain === undefined) return [];
  const { watched, address, feeds: known } = model;
  const { view, before } = address;
  const query = `domain=${encodeURIComponent(domain)}`;
  const over = model.verdictSeconds === undefined ? '' : `&for=${model.verdictSeconds}`;
  const samples = `/admin/shadow/samples?${query}`;
  const curves: Feed = { name: 'curves', path: samples, intervalMs: SHADOW_INTERVAL_MS, read: readCurves };
  const ofView: Readonly<Record<View, readonly Feed[]>> = {
    live: [],
    doctor: [],
    drills: [
      { name: 'plans', path: '/admin/plans', intervalMs: 60_000 },
      { name: 'drills', path: '/admin/drills', intervalMs: 3000 },
    ],
    shadow: [
      { name: 'shadowStatus', path: `/admin/shadow/status?${query}${over}`, about: query, intervalMs: 2000 },
      { name: 'shadowReports', path: '/admin/shadow/reports', intervalMs: 10_000 },
      ...(shadowStatus(model)?.shadow === undefined ? [] : [curves]),
    ],
    changes: [
      { name: 'flush', path: `/admin/flush?${query}`, intervalMs: 2000 },
      { name: 'suppressed', path: `/admin/suppressed?${query}`, intervalMs: 5000 },
      { name: 'warm', path: '/admin/warm', intervalMs: 1000 },
    ],
    popular: [{ name: 'popular', path: `/admin/popular?${query}&limit=100`, intervalMs: 10_000 }],
    audit: [
      before === undefined
        ? { name: 'audit', path: '/admin/audit?limit=100', intervalMs: 3000 }
        : // Older entries do not change.
          { name: 'audit', path: `/admin/audit?limit=100&before=${before}`, intervalMs: 60_000 },
    ],
  };
  // The stream carries neither the candidates, on which the list of views depends, nor the reason of a halt and its
  // operator. The tab of the doctor shows the number of findings on every view.
  const feeds: Feed[] = [{ name: 'shadows', path: '/admin/shadow', intervalMs: 30_000 }];
  if (isHalted(model)) feeds.push({ name: 'halt', path: '/admin/halt', intervalMs: 5000 });
  feeds.push({ name: 'doctor', path: '/admin/doctor', intervalMs: DOCTOR_INTERVAL_MS });
  if (view !== 'shadow' || shadowSummary(model, domain) !== undefined) feeds.push(...ofView[view]);
  if (watched === undefined) return feeds;
  const path = `/admin/drills/${encodeURIComponent(watched)}`;
  const isRead = known.journal?.path === path && known.journal.value?.state.kind === 'over';
  if (!isRead) feeds.push({ name: 'journal', path, intervalMs: DRILL_INTERVAL_MS, read: readJournal });
  return feeds;
}

/** Fetches only the samples that are new. */
async function readJournal(
  api: Api,
  { path, value }: FeedState<FeedValues['journal']>,
): Promise<FeedValues['journal']> {
  const { samples: known = [], nextSample: from = 0, emptyReads = 0 } = value ?? {};
  const journal = await api.get<Journal>(`${path}?samples=${from}`);
  const fresh = journal.samples;
  const samples = from === 0 ? fresh : [...known, ...fresh].slice(-MAX_SAMPLES);
  if (fresh.length > 0) return { ...journal, samples, nextSample: from + fresh.length, emptyReads: 0 };
  const isThinned = emptyReads + 1 >= MAX_EMPTY_READS;
  return { ...journal, samples, nextSample: isThinned ? 0 : from, emptyReads: isThinned ? 0 : emptyReads + 1 };
}

/** Fetches only the samples that are new. */
export async function readCurves(
  api: Pick<Api, 'get'>,
  { path, value, receivedMs = 0 }: FeedState<FeedValues['curves']>,
): Promise<FeedValues['curves']> {
  const isRecent = performance.now() - receivedMs < MAX_SHADOW_PAUSE_MS;
  const known = (isRecent ? value?.samples : undefined) ?? [];
  const next = await api.get<FeedValues['curves'] & { readonly total: number }>(`${path}&from=${known.length}`);
  const { shadow, total, samples } = next;
  // Another shadow has begun, or the service has joined samples.
  if (known.length > 0 && (shadow !== value?.shadow || total < known.length)) return readCurves(api, { path });
  return { shadow, samples: [...known, ...samples] };
}

/** `needed`: Called at every poll. */
export function createFeeds({
  api,
  needed,
  put,
}: {
  readonly api: Api;
  readonly needed: () => readonly Feed[];
  readonly put: (name: keyof FeedValues, state: FeedState) => void;
}) {
  type Entry = { readonly state: FeedState; readonly about: string; dueMs: number; busy: boolean };
  const entries = new Map<string, Entry>();

  const read = async ({ name, path, about = path, intervalMs, read: continued }: Feed) => {
    const before = entries.get(name);
    const known = before?.about === about ? { ...before.state, path } : { path };
    const entry = { state: known, about, dueMs: Number.POSITIVE_INFINITY, busy: true };
    entries.set(name, entry);
    if (before?.state.path !== path) put(name, known);
    let state: FeedState;
    try {
      const value = await (continued === undefined ? api.get(path) : continued(api, known as FeedState<never>));
      state = { path, value, receivedMs: performance.now() };
    } catch (error) {
      state = { ...known, problem: asProblem(error) };
    }
    // The view shows another path by now.
    if (entries.get(name) !== entry) return;
    entries.set(name, { state, about, dueMs: performance.now() + intervalMs, busy: false });
    put(name, state);
  };

  const poll = () => {
    for (const feed of needed()) {
      const entry = entries.get(feed.name);
      const isDue = entry === undefined || (!entry.busy && performance.now() >= entry.dueMs);
      if (isDue || entry.state.path !== feed.path) void read(feed);
    }
  };

  return {
    poll,
    /** @param names Feeds whose value has changed: they are read at once. */
    refresh: (names: readonly (keyof FeedValues)[]) => {
      for (const name of names) {
        const entry = entries.get(name);
        if (entry !== undefined) entry.dueMs = 0;
      }
      poll();
    },
  };
}
