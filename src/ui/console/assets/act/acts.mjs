import { asProblem } from '../data/problem.mjs';
import { CHANGE_ACTS } from './change.mjs';
import { DRILL_ACTS } from './drill.mjs';
import { HALT_ACTS } from './halt.mjs';

/**
 * @typedef {import('./desk.mjs').Desk} Desk
 * @typedef {import('./desk.mjs').Order} Order
 */

/** @type {import('./desk.mjs').Acts} */
const ACTS = { ...DRILL_ACTS, ...HALT_ACTS, ...CHANGE_ACTS };

const READ_ONLY = 'Changes are off: the service has no token. Set ADMIN_TOKEN and start it again.';

/**
 * Does what was ordered, once at a time, and says at its place what came of it.
 * @param {Desk} desk
 * @param {string} name
 * @param {Order} order
 * @returns {Promise<void>}
 */
export async function perform(desk, name, order) {
  const act = ACTS[name];
  if (act === undefined || desk.model().busy.includes(name)) return;
  const place = act.at ?? name;
  /** @param {import('../data/model.mjs').Said | undefined} said */
  const say = (said) => {
    const { [place]: _, ...others } = desk.model().said;
    desk.set({ said: said === undefined ? others : { ...others, [place]: said } });
  };
  if (desk.model().readOnly && act.reads !== true) return say({ kind: 'refused', text: READ_ONLY });
  say(undefined);
  desk.set({ busy: [...desk.model().busy, name] });
  try {
    const done = await act.run(desk, order);
    if (done !== undefined) say({ kind: 'done', text: done });
  } catch (error) {
    say({ kind: 'refused', text: asProblem(error).message });
  } finally {
    desk.set({ busy: desk.model().busy.filter((each) => each !== name) });
  }
}
