import Console

Bowser.main()
