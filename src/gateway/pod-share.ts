/** One process's part of a limit of the pod. */
export function shareOf(pods: number, processes: number): number {
  return Math.ceil(pods / processes);
}
