/** One process's part of what a pod may have. */
export function shareOf(pods: number, processes: number): number {
  return Math.ceil(pods / processes);
}
