export const inside: readonly string[]
export const insidePluginWorker: readonly string[]
export const insidePngWorker: readonly string[]
export const programs: Readonly<Record<string, string>>
export const outside: string[]
