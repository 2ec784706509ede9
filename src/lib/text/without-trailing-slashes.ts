/** `/batch/` is `/batch`; a path of slashes only becomes `/`. */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (end > 1 && path[end - 1] === '/') end--
  return path.slice(0, end)
}
