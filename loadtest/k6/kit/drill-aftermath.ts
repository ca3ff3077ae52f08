import { createAdmin, listOf, memberOf, textsOf } from './admin.ts';
import { abortDrill, lookAtDrill, runMark } from './drill-hands.ts';
import { say } from './event.ts';
import type { Scene } from './script.ts';

/** Also when the run was cut short: no drill of it goes on without the searches that guard it. */
export function endDrills(scene: Scene): void {
  const admin = createAdmin(scene.target);
  const listed = admin.get('/admin/drills');
  if (!listed.ok) {
    const words = 'one that still runs ends by its guards, or by itself when nobody searches any more';
    say({ kind: 'note', text: `drills could not be looked for: ${listed.fault}; ${words}` });
    return;
  }
  const running = listOf(listed.body, 'drills').filter((drill) => memberOf(drill, 'running') === true);
  for (const id of textsOf(running, 'id')) {
    // Somebody else's drill is nothing of ours.
    if (lookAtDrill(admin, id)?.reason.endsWith(runMark(scene)) !== true) continue;
    const text = 'aborted: it still ran when the load had ended';
    if (abortDrill(admin, id, text)) say({ kind: 'drill-ended', drill: id, text });
  }
}
