export function preludeText(): Promise<string>
