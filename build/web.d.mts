export function buildWeb(outDir?: string): Promise<void>
