export function buildClient(outDir?: string): Promise<void>
export function smallPageScript(): Promise<string>
