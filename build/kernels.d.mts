export function kernelModuleText(): Promise<string>
