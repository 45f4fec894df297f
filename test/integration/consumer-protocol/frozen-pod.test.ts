process.env['KAFKA_DRIVER'] = 'platformatic';
process.env['KAFKA_GROUP_PROTOCOL'] = 'consumer';
await import('../frozen-pod.test.ts');
