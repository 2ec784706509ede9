export function buildEmptyFiles(folder: string): Promise<void>
