/**
 * What an act may use, and how it says what came of it.
 * @typedef {import('../data/model.mjs').Model} Model
 * @typedef {object} Desk
 * @property {() => Model} model
 * @property {(part: Partial<Model>) => void} set
 * @property {import('../data/api.mjs').Api} api
 * @property {(...names: (keyof import('../data/shapes.mjs').FeedValues)[]) => void} refresh These have changed.
 * @property {(id: string) => void} watch
 * @property {(selector: string) => void} focus After the next drawing.
 *
 * @typedef {object} Order What was pressed or sent.
 * @property {string} domain The one that is shown.
 * @property {string} id Of `data-id`; empty without.
 * @property {FormData} form
 * @property {(form?: string) => void} clear Empties the form that was sent.
 *
 * @typedef {object} Act
 * @property {string} [at] Where its outcome is told; in its own place unless said.
 * @property {boolean} [reads] It changes nothing in the service.
 * @property {(desk: Desk, order: Order) => Promise<string | undefined>} run What was done, in one sentence; undefined: nothing.
 * @typedef {Readonly<Record<string, Act>>} Acts
 */

export {};
