/**
 * What the admin API says, by the names the console uses.
 * @typedef {import('../../../../operations/operations.ts').DomainLook} DomainLook
 * @typedef {import('../../../../operations/meter/figures.ts').Figures} Figures
 * @typedef {import('../../../../search/events.ts').Outcome} Outcome
 * @typedef {import('../../../../operations/drills/drills.ts').DrillSummary} DrillSummary
 * @typedef {import('../../../../operations/drills/drills.ts').UnreadableReport} UnreadableReport
 * @typedef {import('../../../../operations/drills/drills.ts').DrillPreview} DrillPreview
 * @typedef {import('../../../../operations/drills/journal.ts').Journal} Journal
 * @typedef {import('../../../../operations/drills/journal.ts').Sample} Sample
 * @typedef {import('../../../../operations/drills/plan.ts').Plan} Plan
 * @typedef {import('../../../../operations/drills/plan.ts').GuardRule} GuardRule
 * @typedef {import('../../../../operations/flush/flush.ts').FlushPreview} FlushPreview
 * @typedef {import('../../../../operations/flush/flush.ts').Erasure} Erasure
 * @typedef {import('../../../../operations/warm/warm.ts').WarmUp} WarmUp
 * @typedef {import('../../../../operations/audit/audit.ts').AuditEntry} AuditEntry
 *
 * @typedef {{ readonly atMs: number, readonly domains: readonly DomainLook[], readonly drills: readonly DrillSummary[] }} LiveLine
 * @typedef {{ readonly halted: boolean, readonly domains: readonly { readonly domain: string, readonly reason: string, readonly by: string, readonly atMs: number }[] }} Halts
 * @typedef {{ readonly domain: string, readonly source: 'fleet' | 'process', readonly queries: readonly { readonly search: string, readonly count: number }[] }} Popular
 * @typedef {{ readonly domain: string, readonly max: number, readonly suppressed: readonly { readonly id: string, readonly atMs: number }[] }} Suppressed
 * @typedef {{ readonly domain: string, readonly erasure?: Erasure }} Flushes
 * @typedef {object} FeedValues What each feed brings.
 * @property {Halts} halt
 * @property {{ readonly plans: readonly Plan[] }} plans
 * @property {{ readonly drills: readonly DrillSummary[], readonly unreadable?: readonly UnreadableReport[] }} drills
 * @property {Popular} popular
 * @property {Suppressed} suppressed
 * @property {Flushes} flush
 * @property {{ readonly warmUps: readonly WarmUp[] }} warm
 * @property {{ readonly entries: readonly (AuditEntry & { readonly atMs: number })[], readonly next?: string }} audit
 */

export {};
