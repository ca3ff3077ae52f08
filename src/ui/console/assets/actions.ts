import type { Report } from '../../../operations/doctor/report.ts';
import { type Api, asProblem, type FeedValues } from './api.ts';
import type { Feedback, Model } from './model.ts';

/** The parts of the console that actions use. */
export interface ActionContext {
  readonly model: () => Model;
  readonly set: (part: Partial<Model>) => void;
  readonly api: Api;
  /** Reads these feeds at once. */
  readonly refresh: (...names: (keyof FeedValues)[]) => void;
  /** Shows this drill. */
  readonly watch: (id: string) => void;
  /** Focuses the element after the next drawing. */
  readonly focus: (selector: string) => void;
}

/** The button that was pressed, or the form that was sent. */
export interface ActionRequest {
  /** The domain that is shown. */
  readonly domain: string;
  /** The value of `data-id`; empty without it. */
  readonly id: string;
  readonly form: FormData;
  /** Empties the form that was sent. */
  readonly clear: () => void;
}

export interface Action {
  /** The slot that shows the feedback; the action's own name by default. */
  readonly slot?: string;
  /** The action changes nothing in the service. */
  readonly readOnly?: boolean;
  /** Returns the feedback, one sentence; undefined for none. */
  readonly run: (context: ActionContext, request: ActionRequest) => Promise<string | undefined>;
}

export type Actions = Readonly<Record<string, Action>>;

const CHANGES_ARE_OFF = 'Changes are off: the service has no token. Set ADMIN_TOKEN and start it again.';

/** Runs an action, unless the same one is running, and shows its feedback in its slot. */
export async function perform(
  context: ActionContext,
  actions: Actions,
  name: string,
  request: ActionRequest,
): Promise<void> {
  const action = actions[name];
  if (action === undefined || context.model().busy.includes(name)) return;
  const slot = action.slot ?? name;
  const show = (feedback: Feedback | undefined) => {
    const { [slot]: _, ...others } = context.model().feedback;
    context.set({ feedback: feedback === undefined ? others : { ...others, [slot]: feedback } });
  };
  if (context.model().readOnly && action.readOnly !== true) return show({ kind: 'refused', text: CHANGES_ARE_OFF });
  show(undefined);
  context.set({ busy: [...context.model().busy, name] });
  try {
    const text = await action.run(context, request);
    if (text !== undefined) show({ kind: 'done', text });
  } catch (error) {
    show({ kind: 'refused', text: asProblem(error).message });
  } finally {
    context.set({ busy: context.model().busy.filter((each) => each !== name) });
  }
}

export const DOCTOR_ACTIONS: Actions = {
  examine: {
    readOnly: true,
    run: async ({ api, set, refresh }) => {
      const { report } = await api.ask<{ readonly report: Report }>('/admin/doctor/examination');
      set({ examination: { report } });
      refresh('doctor');
    },
  },
};
