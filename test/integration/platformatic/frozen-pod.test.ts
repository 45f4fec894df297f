process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../frozen-pod.test.ts');
