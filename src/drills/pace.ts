/** Time as drills wait for it; tests bring their own. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Resolves after `ms`, or at once when the signal is aborted. Keeps no process alive. */
export const sleepReally: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal?.addEventListener('abort', end, { once: true });
  });
