// origin: written for Trailblaze after Maestro's documentation; Apache-2.0
const response = http.get('https://api.example/token');
output.token = json(response.body).token;
