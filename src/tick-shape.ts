/**
 * Keeps `process.nextTick` fast for the life of the process. main.ts imports this module before all others, while
 * `process.nextTick` has not run yet.
 *
 * `process.nextTick` makes an object with computed keys. V8 remembers the hidden class (map) that the object has before
 * each of these keys, but holds it weakly. After three or four full garbage collections without a pending tick the maps
 * are gone. The next tick makes new ones, V8 finds others than it remembers, and from then on each key of each tick runs
 * through the C++ runtime, because V8 never forgets a mismatch: an L1 hit, which schedules several ticks, costs a third
 * more CPU. Some starts lose the maps to their own garbage collections, and every process can lose them later, while it is
 * idle. Many calls at the start only delay this: optimised code holds the maps weakly too.
 *
 * A tick object that is kept holds all its maps, for about 100 bytes and no time.
 */
import { createHook } from 'node:async_hooks';

/** Never read: the reference keeps the maps alive. Undefined when Node no longer names the resource of a tick like this. */
export const keptTick: object | undefined = tickObject();

function tickObject(): object | undefined {
  let tick: object | undefined;
  const hook = createHook({
    init: (_asyncId, type, _triggerAsyncId, resource) => {
      if (type === 'TickObject') tick = resource;
    },
    // A promise hook slows every promise of the process, even after it was removed.
    trackPromises: false,
  });
  hook.enable();
  process.nextTick(() => {});
  hook.disable();
  return tick;
}
