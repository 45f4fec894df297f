process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../positions.test.ts');
