/**
 * What the admin API says, by the names the console uses.
 * @typedef {import('../../../admin/operations.ts').DomainLook} DomainLook
 * @typedef {import('../../../../meter/reading.ts').Figures} Figures
 * @typedef {import('../../../../search/outcome.ts').Outcome} Outcome
 * @typedef {import('../../../../drills/drills.ts').DrillSummary} DrillSummary
 * @typedef {import('../../../../drills/drills.ts').UnreadableReport} UnreadableReport
 * @typedef {import('../../../../drills/drills.ts').DrillPreview} DrillPreview
 * @typedef {import('../../../../drills/journal.ts').Journal} Journal
 * @typedef {import('../../../../drills/journal.ts').Sample} Sample
 * @typedef {import('../../../../drills/plan.ts').Plan} Plan
 * @typedef {import('../../../../drills/plan.ts').GuardRule} GuardRule
 * @typedef {import('../../../../flush/flush.ts').FlushPreview} FlushPreview
 * @typedef {import('../../../../flush/flush.ts').Erasure} Erasure
 * @typedef {import('../../../../warm/warm.ts').WarmUp} WarmUp
 * @typedef {import('../../../../audit/audit.ts').AuditEntry} AuditEntry
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
