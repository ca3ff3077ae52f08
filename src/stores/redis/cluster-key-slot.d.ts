/** The package of ioredis that computes slots has no types of its own. */
declare module 'cluster-key-slot' {
  /** The Redis Cluster hash slot of a name, 0–16383. */
  export default function slotOf(name: string): number;
}
